import type { JSX } from 'preact'
import type { CallJson } from '../../src/call/call-record.ts'
import { type PageAddress, writeAddress } from '../data/page-address.ts'
import type { Times } from '../format/times.ts'
import { callColumns } from './call-columns.tsx'
import type { ColumnName } from './chosen-columns.ts'
import { OnlyWhenChanged } from '../design/only-when-changed.ts'
import type { RowHandlers } from './use-call-rows.ts'

export interface CallRowProps {
  readonly call: CallJson
  readonly index: number
  readonly columns: readonly ColumnName[]
  readonly scaleMs: number
  readonly times: Times
  readonly nowMs: number
  readonly address: PageAddress
  /** Whether Tab leads to it. */
  readonly isActive: boolean
  readonly isOpen: boolean
  readonly handlers: RowHandlers
}

/** A call in the table. Its time is its link. */
export class CallRow extends OnlyWhenChanged<CallRowProps> {
  override render(): JSX.Element {
    const { call, index, columns, scaleMs, times, nowMs, address, isActive, isOpen, handlers } = this.props
    const startedMs = Date.parse(call.started_at)
    return (
      <tr
        data-index={index}
        aria-rowindex={index + 2}
        aria-current={isOpen ? 'true' : undefined}
        onClick={(event) => handlers.onPress(event, index)}
      >
        {columns.map((name) => (
          <td key={name} class={callColumns[name].isFigure === true ? 'figure' : ''}>
            {name === 'time' ? (
              <a
                class="call-link"
                href={writeAddress({ ...address, call: call.id })}
                tabIndex={isActive ? 0 : -1}
                title={times.inUtc(startedMs)}
                onFocus={() => handlers.onFocus(index)}
              >
                {times.short(startedMs, nowMs)}
              </a>
            ) : (
              callColumns[name].cell(call, scaleMs)
            )}
          </td>
        ))}
      </tr>
    )
  }
}
