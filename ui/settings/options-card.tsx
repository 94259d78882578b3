import { useState } from 'preact/hooks'
import type { ConfigOption, ProxyConfig, SettingValue } from '../../src/api/proxy-config.ts'
import { act } from '../data/dashboard-api.ts'
import {
  aboutWords,
  choicesOf,
  editable,
  groupOptions,
  isSame,
  optionTitle,
  sentence,
  settingOf,
  shownValue,
  sourceWords,
} from '../gateway/option-text.ts'
import { Observable, useObservable } from '../data/observable.ts'
import { useAction } from '../data/use-action.ts'
import { Awaited } from '../design/awaited.tsx'
import { Button } from '../design/button.tsx'
import { Card } from '../design/card.tsx'
import { DescriptionList } from '../design/description-list.tsx'
import { type Draft, elsewhereWords, typedInto } from '../design/form/draft.ts'
import { Icon } from '../design/icon.tsx'
import { counted } from '../format/figures.ts'
import { SettingRow } from '../design/form/setting-row.tsx'
import { useGatewayActions } from '../gateway/use-gateway-actions.tsx'
import { useGatewayConfig } from '../gateway/use-gateway-config.ts'

/** The drafts by option name, kept while other views are open. */
const keptDrafts = new Observable<ReadonlyMap<string, Draft>>(new Map())

/** The gateway's options: a form for those that can be changed here, and the others as text. */
export function OptionsCard() {
  const { put, ...query } = useGatewayConfig()
  const { answer: config } = query
  const gateway = useGatewayActions(config)
  const drafts = useObservable(keptDrafts)
  const { isBusy: isSaving, error, run, forgetError } = useAction()
  const [message, setMessage] = useState<string | null>(null)
  if (config === null) return <Awaited what="the options" {...query} height="44rem" />
  const { options, needs_restart: needsRestart, file } = config
  const changeable = options.filter(({ changes }) => changes !== null)
  const changed = changeable.filter((option) => isChanged(option, drafts))
  const canSave = !isSaving && changed.length > 0
  const failed = error ?? gateway.error
  const isOfField = changeable.some(({ name }) => name === error?.param)

  const forget = (): void => {
    keptDrafts.set(new Map())
    forgetError()
  }
  const save = async (): Promise<void> => {
    const settings: Readonly<Record<string, SettingValue>> = Object.fromEntries(
      changed.map(({ name, value }) => [name, settingOf(drafts.get(name)?.text ?? '', value)]),
    )
    setMessage(null)
    const config = await act<ProxyConfig>('PUT', '/api/proxy/config', settings)
    // Text typed during the save stays.
    keptDrafts.set(new Map([...keptDrafts.current].filter(([name, draft]) => draft !== drafts.get(name))))
    put(config)
    setMessage(savedWords(config, Object.keys(settings)))
  }

  return (
    <>
      <Card title="Options" class="options-card">
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            if (canSave) void run(save)
          }}
        >
          {groupOptions(changeable).map(({ group, options }) => (
            <section key={group} aria-label={group}>
              <h3>{group}</h3>
              {options.map((option) => (
                <SettingRow
                  key={option.name}
                  id={`option-${option.name}`}
                  title={optionTitle(option.name)}
                  code={option.name}
                  value={drafts.get(option.name)?.text ?? editable(option)}
                  choices={choicesOf(option)?.map((choice) => [choice, choice] as const)}
                  isNumber={option.kind === 'number'}
                  unit={option.unit}
                  fixed={option.fixed_by === null ? null : shownValue(option)}
                  error={error?.param === option.name ? error.message : null}
                  notice={
                    (isChanged(option, drafts)
                      ? elsewhereWords(drafts.get(option.name), editable(option), shownValue(option))
                      : null) ??
                    (needsRestart.includes(option.name) && option.running !== null
                      ? `The running gateway uses ${shownValue(option, option.running)}. Restart to apply.`
                      : null)
                  }
                  about={aboutWords(option)}
                  onInput={(text) => {
                    const draft = typedInto(drafts.get(option.name), text, editable(option))
                    keptDrafts.set(new Map(drafts).set(option.name, draft))
                    setMessage(null)
                    if (error?.param === option.name) forgetError()
                  }}
                />
              ))}
            </section>
          ))}
          <div class={`foot row wraps ${changed.length > 0 || message !== null ? 'changed' : ''}`}>
            <p id="options-told" class={failed !== null && !isOfField ? 'fine bad' : 'fine'} role="status">
              {failed !== null && !isOfField ? failed.message : (message ?? pendingWords(needsRestart))}
            </p>
            <div class="buttons row wraps at-end">
              {needsRestart.length > 0 && changed.length === 0 ? (
                <Button isOff={!gateway.canDo('restart')} onClick={() => gateway.press('restart')}>
                  Restart to apply
                </Button>
              ) : (
                <Button kind="bare" isOff={!canSave} onClick={forget}>
                  Discard
                </Button>
              )}
              <Button type="submit" kind="strong" isOff={!canSave}>
                {isSaving ? 'Saving…' : 'Save'}
              </Button>
            </div>
          </div>
        </form>
        <OtherOptions options={options.filter(({ changes }) => changes === null)} />
        <p class="quiet fine">
          Changes are saved in <code id="settings-file">{file}</code>
        </p>
      </Card>
      <Awaited what="the options" {...query} />
      {gateway.dialog}
    </>
  )
}

/** The options that only a flag or an environment variable can set. */
function OtherOptions({ options }: { readonly options: readonly ConfigOption[] }) {
  return (
    <details class="others">
      <summary class="opener row">
        <Icon name="right" size={14} />
        {counted(options.length, 'more option')}, set by flag or environment variable
      </summary>
      {groupOptions(options).map(({ group, options }) => (
        <section key={group} aria-label={`${group}, read-only`}>
          <h3>{group}</h3>
          <DescriptionList
            class="facts stack"
            facts={options.map((option) => [
              <>
                {optionTitle(option.name)} <code class="quiet">{option.name}</code>
              </>,
              <>
                <code>{shownValue(option)}</code>
                <p class="quiet">{[sentence(option.description), sourceWords(option)].join(' ')}</p>
              </>,
            ])}
          />
        </section>
      ))}
    </details>
  )
}

function isChanged(option: ConfigOption, drafts: ReadonlyMap<string, Draft>): boolean {
  const draft = drafts.get(option.name)
  if (draft === undefined || option.fixed_by !== null || draft.text === editable(option)) return false
  return !isSame(settingOf(draft.text, option.value), option.value)
}

function pendingWords(needsRestart: readonly string[]): string {
  if (needsRestart.length === 0) return ''
  return `${counted(needsRestart.length, 'change')} pending restart.`
}

function savedWords({ options, needs_restart: needsRestart }: ProxyConfig, names: readonly string[]): string {
  const waiting = names.filter((name) => needsRestart.includes(name)).map(optionTitle)
  if (waiting.length > 0) return `Saved. Restart to apply: ${waiting.join(', ')}.`
  const areRunning = options.some(({ running }) => running !== null)
  return areRunning ? 'Saved and applied.' : 'Saved. Applies at the next start.'
}
