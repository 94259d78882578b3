import { AddressLink, useNavigation, useTimes } from '../data/navigation.tsx'
import { act } from '../data/dashboard-api.ts'
import { setStatus, useLive } from '../data/live.ts'
import type { Action } from '../data/use-action.ts'
import { Button } from '../design/button.tsx'
import { Icon, StateMark } from '../design/icon.tsx'
import { Meter, SlotCells } from '../design/meter.tsx'
import { count, counted } from '../format/figures.ts'
import { type GatewayLoad, type GatewayNow, gatewayNow } from '../data/gateway-now.ts'

/** The most slots that are drawn one by one. */
const maxCells = 12

/** The gateway's current state, slots, queue and budget. `starting` is the action that starts the gateway. */
export function NowStrip({ starting }: { readonly starting: Action }) {
  const times = useTimes()
  const lostSinceMs = useLive(({ lostSinceMs }) => lostSinceMs)
  const now = useLive(({ status }) => (status === null ? null : gatewayNow(status)))
  const { address } = useNavigation()
  return (
    <div class="now-strip row at-end">
      {lostSinceMs !== null ? (
        <p class="now-lost row bad" role="alert">
          <Icon name="warning" />
          <FullOrBrief
            full={`Dashboard unreachable since ${times.seconds(lostSinceMs)}, retrying`}
            brief={`Unreachable since ${times.seconds(lostSinceMs)}, retrying`}
          />
        </p>
      ) : now === null ? (
        <div class="now-link row">
          <span class="skeleton now-skeleton" />
        </div>
      ) : (
        <>
          <Alerts />
          <AddressLink to={{ view: 'gateway', call: null }} class="now-link row" title="Gateway status">
            <State now={now} />
            {now.load !== null && <Load load={now.load} />}
          </AddressLink>
          {/* The Gateway view has the same, larger. */}
          {now.canStart && address.view !== 'gateway' && (
            <Button
              kind="strong"
              small
              isOff={starting.isBusy}
              onClick={() => void starting.run(async () => setStatus(await act('POST', '/api/proxy/start')))}
            >
              {starting.isBusy ? 'Starting…' : 'Start'}
              <span class="aside"> the gateway</span>
            </Button>
          )}
        </>
      )}
    </div>
  )
}

/** A text, and a shorter one for narrow windows. */
export function FullOrBrief({ full, brief }: { readonly full: string; readonly brief: string }) {
  if (full === brief) return <span>{full}</span>
  return (
    <>
      <span class="now-full">{full}</span>
      <span class="now-brief">{brief}</span>
    </>
  )
}

function State({ now }: { readonly now: GatewayNow }) {
  return (
    <span class={`now-part row now-state is-${now.tone} ${now.load === null ? '' : 'has-load'}`}>
      <StateMark shape={now.shape} />
      <span class="aside">Gateway:</span>
      <FullOrBrief full={now.words} brief={now.shortWords} />
      {now.meaning !== '' && <span class="meaning quiet">{now.meaning}</span>}
    </span>
  )
}

/** A link to the active alerts; nothing if there are none. */
function Alerts() {
  const alerts = useLive(({ alerts }) => alerts)
  if (alerts.length === 0) return null
  return (
    <AddressLink
      to={{ view: 'alerts', call: null }}
      class="now-link row now-alerts is-warn"
      title={alerts.map(({ title }) => title).join(', ')}
    >
      <Icon name="warning" size={14} />
      {counted(alerts.length, 'alert')}
    </AddressLink>
  )
}

function Load({ load }: { readonly load: GatewayLoad }) {
  const { active, slots, queued, budget } = load
  return (
    <>
      <span class="now-part row now-slots" title={`${load.slotWords} in use. Slots limit concurrent calls.`}>
        <SlotCells active={active} slots={slots} most={maxCells} />
        <span>
          {count(active)} of {count(slots)}
          <span class="unit"> {`${slots === 1 ? 'slot' : 'slots'}${load.ofAll}`}</span>
        </span>
      </span>
      <span
        class={`now-part row quiet now-queue ${queued > 0 ? 'is-waiting' : ''}`}
        title="Calls waiting for a slot."
      >
        {load.queueWords}
      </span>
      {budget !== null && (
        <span class={`now-part row now-budget is-${budget.tone}`} title={budget.words}>
          <Meter share={budget.share} />
          <span>
            {budget.shareWords}
            <span class="of"> of</span> budget
          </span>
        </span>
      )}
    </>
  )
}
