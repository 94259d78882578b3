import type { ResolvedGateway } from './gateway-config.ts'
import { ProcessError } from './gateway-process.ts'

/** What a replacement is made of. */
export interface ReplaceSteps<T> {
  stop(): Promise<void>
  start(plan: ResolvedGateway): Promise<T>
}

/**
 * Puts a new gateway in the place of one that cannot hand over to it: the old one finishes its calls and ends, then the new one
 * starts. If that does not come up, the old one is brought back, and this rejects with {@link ProcessError}.
 */
export async function replaceGateway<T>(
  next: ResolvedGateway,
  previous: ResolvedGateway,
  steps: ReplaceSteps<T>,
): Promise<T> {
  await steps.stop()
  try {
    return await steps.start(next)
  } catch (error) {
    if (!(error instanceof ProcessError)) throw error
    return await bringBack(error, previous, (plan) => steps.start(plan))
  }
}

/** Starts the gateway that worked once more, after a new one did not. Rejects with {@link ProcessError} in any case. */
export async function bringBack(
  { code, message, log }: ProcessError,
  previous: ResolvedGateway,
  start: (plan: ResolvedGateway) => Promise<unknown>,
): Promise<never> {
  const sequel = await start(previous).then(
    () => 'The previous gateway was brought back.',
    (again: unknown) =>
      `The previous one did not come back either: ${again instanceof Error ? again.message : String(again)}`,
  )
  throw new ProcessError(code, `${message} ${sequel}`, log)
}
