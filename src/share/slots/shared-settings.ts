/** The settings of all gateways: slots, tokens of any 24 hours, and whether calls beyond these are refused. */
export interface SharedSettings {
  readonly maxConcurrent: number
  readonly tokenLimit: number
  readonly rejects: boolean
}

/** The settings that a start asks for; null means the others' value. */
export type AskedSettings = { readonly [Name in keyof SharedSettings]: SharedSettings[Name] | null }

/** The other gateways do not allow this start. The message is for people. */
export class LimitError extends Error {
  readonly code = 'invalid_limit'
}

/** Why a start is refused: other settings hold, or else no number is free. */
export function refusal(there: SharedSettings, own: AskedSettings): LimitError {
  const isOther = (name: keyof SharedSettings): boolean => own[name] !== null && own[name] !== there[name]
  const { maxConcurrent: max, tokenLimit: tokens } = there
  if (isOther('maxConcurrent')) {
    const ownMax = own.maxConcurrent
    return new LimitError(
      `the gateways share ${max} slots, and --max-concurrent says ${ownMax}: start with ${max}, or without it; \`tokenweir gateways set --max-concurrent ${ownMax}\` changes it for all`,
    )
  }
  if (isOther('tokenLimit')) {
    return new LimitError(
      `the gateways share a budget of ${tokens} tokens, and --token-limit says ${own.tokenLimit}: start with ${tokens}, or without it; to change it for all, use the page of one that runs`,
    )
  }
  if (isOther('rejects')) {
    return new LimitError(
      'the token budget of the gateways only reports, and --budget-action says reject: start with report, or without it',
    )
  }
  return new LimitError('64 gateways share already, or did within the last hour')
}
