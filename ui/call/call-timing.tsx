import type { CallJson } from '../../src/call/call-record.ts'
import { duration } from '../format/figures.ts'
import { type TimedCall, barParts, callPhases, phases } from './call-phases.ts'

export interface CallTimingProps {
  readonly call: TimedCall & Partial<Pick<CallJson, 'ttft_total_ms' | 'ttfo_ms' | 'overhead_ms'>>
}

/** The phases of a call, one below the other, each at its time. The phases add up to the duration. */
export function CallTiming({ call }: CallTimingProps) {
  const { duration_ms: totalMs, ttft_ms: ttftMs, ttfo_ms: ttfoMs, overhead_ms: overheadMs } = call
  const feltMs = call.ttft_total_ms ?? null
  if (totalMs === null) return <p class="quiet">No times: the gateway ended before the call.</p>
  const shareOf = (ms: number): string => `${totalMs === 0 ? 0 : (ms / totalMs) * 100}%`
  return (
    <>
      <table class="call-timing">
        <tbody>
          {callPhases(call).map(({ name, startMs, lengthMs }) => (
            <tr key={name}>
              <th scope="row">{phases[name].words}</th>
              <td>
                <div class="timing-track" aria-hidden="true">
                  {lengthMs > 0 && (
                    <span
                      style={{
                        '--part': barParts[phases[name].part].colour,
                        left: `min(${shareOf(startMs)}, 100% - 2px)`,
                        width: shareOf(lengthMs),
                      }}
                    />
                  )}
                </div>
              </td>
              <td class="figure">{duration(lengthMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="timing-notes fine">
        {ttftMs !== null && (
          <p>
            Time to first token <strong>{duration(ttftMs)}</strong> from sending the attempt
            {feltMs !== null && duration(feltMs) !== duration(ttftMs) && (
              <>
                ; <strong>{duration(feltMs)}</strong> from the request’s arrival, including waits
              </>
            )}
            .
          </p>
        )}
        {typeof ttfoMs === 'number' && ttftMs !== null && ttfoMs > ttftMs && (
          <p>
            First token after reasoning: <strong>{duration(ttfoMs)}</strong>.
          </p>
        )}
        {typeof overheadMs === 'number' && call.attempts > 0 && (
          <p>
            <strong>{duration(overheadMs)}</strong> of the total is the gateway’s own work.
          </p>
        )}
      </div>
    </>
  )
}
