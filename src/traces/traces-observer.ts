import { systemClock } from '../call/clock.ts'
import type { ObserveRows } from '../call/row-observer.ts'
import { type SchemePorts, spanAttributes, spanOf } from './call-span.ts'
import { jsonSpans } from './json-spans.ts'
import { httpReceiver } from './span-receiver.ts'
import { SpanSender } from './span-sender.ts'
import type { TraceSettings } from './trace-settings.ts'

/** The settings of the observer that sends spans. */
export interface TraceObserverSettings extends TraceSettings {
  readonly version: string
  readonly instance: string
  /** The ports at the start; a question may replace them. */
  readonly schemePorts: SchemePorts
}

/** Sends a span of each call that becomes a row. */
export const observeRows: ObserveRows<TraceObserverSettings> = (settings, warn) => {
  const { url, headers, version, instance, problem } = settings
  let { schemePorts } = settings
  const resource = { 'service.version': version, 'service.instance.id': instance, ...settings.resource }
  const sender = new SpanSender({
    encoder: jsonSpans(
      spanAttributes(() => schemePorts),
      { resource, name: 'tokenweir', version },
    ),
    receiver: httpReceiver(settings, process.env),
    url,
    // The secret is the text after `Bearer`.
    secrets: Object.values(headers).flatMap((value) =>
      [value, ...value.split(' ')].filter(({ length }) => length > 5),
    ),
    clock: systemClock,
    warn,
  })
  if (problem !== null) warn('otlp settings', { code: 'otlp_settings', message: `traces: ${problem}` })
  return {
    recorded(calls) {
      for (const call of calls) {
        const span = spanOf(call)
        if (span !== null) sender.add(span)
      }
    },
    /** Returns the counts of spans. A text that is not empty replaces the ports first. */
    answer(ports) {
      if (ports !== '') schemePorts = JSON.parse(ports)
      return JSON.stringify(sender.figures)
    },
    close: () => sender.close(),
  }
}
