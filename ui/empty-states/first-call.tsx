import { useState } from 'preact/hooks'
import type { ModelsReport } from '../../src/api/upstreams.ts'
import { baseUrlOf } from '../data/gateway-now.ts'
import { useLive } from '../data/live.ts'
import { useQuery } from '../data/use-query.ts'
import { CopyButton } from '../design/copy-button.tsx'
import { type FirstCallKind, firstCall, firstCallKinds, firstModel } from './first-call-text.ts'
import { Banner } from '../design/banner.tsx'
import { Segments } from '../design/form/segments.tsx'

function useBaseUrl(): string {
  return useLive(({ status }) => baseUrlOf(status, location.hostname))
}

/** A command for a first call, by the chosen client. */
export function FirstCallCommand() {
  const [kind, choose] = useState<FirstCallKind>('curl')
  const upstream = useLive(({ status }) => status?.upstream ?? null)
  // OpenAI has the default model, and lists none without a key.
  const isAsked = upstream !== null && new URL(upstream).hostname !== 'api.openai.com'
  const { answer } = useQuery<ModelsReport>(isAsked ? '/api/models' : null, { version: upstream ?? '' })
  const { text, note } = firstCall(kind, useBaseUrl(), firstModel(answer?.models ?? []))
  return (
    <>
      <Segments
        label="First call with"
        class="segments first-call-kinds"
        words={firstCallKinds}
        chosen={kind}
        onChoose={choose}
      />
      <div class="first-call-command">
        <pre class="inset wrapped">{text}</pre>
        <CopyButton text={text} what="the command" />
      </div>
      {note !== null && <p class="quiet">{note}</p>}
    </>
  )
}

/** Instructions for the first call. */
export function FirstCallGuide() {
  const baseUrl = useBaseUrl()
  const isStopped = useLive(({ status }) => status?.running === false)
  return (
    <>
      <p>Send a call through the gateway to see it here.</p>
      <FirstCallCommand />
      <p>
        Base URL for any other client: <code>{baseUrl}</code>{' '}
        <CopyButton text={baseUrl} what="the base URL" />
        <br />
        <span class="quiet">Model names and keys are passed on unchanged.</span>
      </p>
      {isStopped && (
        <Banner tone="warn">The gateway is stopped. Start it at the top of the page first.</Banner>
      )}
    </>
  )
}
