/** What a rule is set to. */
export interface AlertSetting {
  readonly on: boolean
  /** In the rule's unit. */
  readonly threshold: number
}

/** A rule, with what it is set to. */
export interface AlertRuleReport extends AlertSetting {
  readonly code: string
  readonly title: string
  /** When it begins, as a sentence with the threshold in it. */
  readonly asks: string
  readonly unit: string
  readonly min: number
  readonly max: number
  /** Unless anybody sets it. */
  readonly usual: number
}

/** Something that a rule says is so now. */
export interface ActiveAlert {
  readonly rule: string
  readonly title: string
  /** The model, client or session; null if it is of all. */
  readonly subject: string | null
  readonly text: string
  /** Since when it is so, or was: ISO 8601, UTC. */
  readonly since: string
}

export const messageKinds = ['begins', 'goes_on', 'ended', 'test'] as const

/** Where a message has got to: `unsent` if there is no webhook. */
export const messageStates = ['pending', 'delivered', 'failed', 'unsent'] as const

/** A message that was sent, or would have been. */
export interface AlertMessage extends ActiveAlert {
  readonly id: string
  /** ISO 8601, UTC. */
  readonly at: string
  readonly kind: (typeof messageKinds)[number]
  readonly state: (typeof messageStates)[number]
  /** What came back; null until then. */
  readonly detail: string | null
}

/** The body of `GET /api/alerts`. */
export interface AlertsReport {
  readonly rules: readonly AlertRuleReport[]
  readonly active: readonly ActiveAlert[]
  /** The last ones, newest first. */
  readonly messages: readonly AlertMessage[]
  /** Where they go; the host alone, as the rest of the address may be a secret. Null without a webhook. */
  readonly receiver: { readonly host: string; readonly format: string; readonly signed: boolean } | null
  /** Where the settings are kept. */
  readonly file: string
  /** What is wrong with that file, while the last good settings go on; null if it can be read. */
  readonly problem: string | null
  /** Messages that are on their way; at most a hundred. */
  readonly pending: number
  /** Messages given up because too many waited. */
  readonly dropped: number
  /** When the rules were last looked at; null if never. */
  readonly looked_at: string | null
}

/** The body of `POST /api/alerts/test`. */
export interface AlertTest {
  readonly delivered: boolean
  readonly detail: string
}
