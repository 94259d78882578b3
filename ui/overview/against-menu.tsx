import { useNavigation } from '../data/navigation.tsx'
import { type Against, againstWords } from '../data/page-address.ts'
import { useShortcuts } from '../design/keys.ts'
import { Popover } from '../design/popover.tsx'

/** For the key that opens it. */
const menuId = 'against-menu'

const choices: readonly (Against | null)[] = [null, 'previous', 'day', 'week']

/** Which earlier time is laid under the charts. */
export function AgainstMenu() {
  const { address, go } = useNavigation()
  const { against } = address
  useShortcuts('Filters', [
    { key: 'b', words: 'Compare with an earlier time', run: () => document.getElementById(menuId)?.click() },
  ])
  return (
    <Popover
      id={menuId}
      label="Compare with an earlier time"
      class={`filter-choice ${against === null ? '' : 'is-set'}`}
      words={against === null ? 'Compare' : againstWords[against]}
    >
      {() => (
        <div class="filter-panel stack">
          <fieldset>
            <legend>Lay under the charts</legend>
            <ul class="check-list">
              {choices.map((choice) => (
                <li key={choice}>
                  <label>
                    <input
                      type="radio"
                      name="against"
                      checked={choice === against}
                      onChange={() => go({ against: choice })}
                    />
                    <span>{choice === null ? 'Nothing' : againstWords[choice]}</span>
                  </label>
                </li>
              ))}
            </ul>
          </fieldset>
        </div>
      )}
    </Popover>
  )
}
