import { useNavigation } from '../data/navigation.tsx'
import { type Against, againstWords } from '../data/page-address.ts'

const choices: readonly (Against | null)[] = [null, 'previous', 'day', 'week']

/** The earlier times that can be laid under the charts. */
export function AgainstPanel() {
  const { address, go } = useNavigation()
  return (
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
                  checked={choice === address.against}
                  onChange={() => go({ against: choice })}
                />
                <span>{choice === null ? 'Nothing' : againstWords[choice]}</span>
              </label>
            </li>
          ))}
        </ul>
      </fieldset>
    </div>
  )
}
