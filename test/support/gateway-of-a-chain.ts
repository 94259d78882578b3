import { LocalAdmission } from '../../src/gateway/admission/local-admission.ts'
import { TokenWindow } from '../../src/gateway/admission/token-window.ts'
import { SharedSlots } from '../../src/gateway/admission/shared-slots.ts'
import type { SharedParts } from '../../src/gateway/handover/predecessors.ts'
import type { FakeClock } from './fake-clock.ts'

/** Of a gateway that replaces another or is replaced: four slots, a budget of 1000 tokens. */
export function gatewayOfAChain(
  instance: string,
  clock: FakeClock,
  budgetRejects: boolean,
): SharedParts & { readonly slots: SharedSlots } {
  const limits = { maxConcurrent: 4, slotCooldownMs: 0, queueLimit: 10, queueTimeoutMs: 0 }
  const admission = new LocalAdmission({ clock, ...limits })
  const slots = new SharedSlots({ admission, clock, holder: instance, leaseMs: Infinity })
  const clients = { used: () => {}, handover: () => [] }
  const budget = new TokenWindow(1000)
  return { instance, admission, slots, budget, clients, budgetRejects, clock }
}
