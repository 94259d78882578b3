/** A call that an imagined client makes. */
export interface DemoCall {
  readonly method: 'GET' | 'POST'
  /** Below the gateway's base URL: `/chat/completions`. */
  readonly path: string
  /** Sent as JSON; null for none. */
  readonly body: unknown
  readonly session: string | null
  /** When the client loses patience and leaves; null where it waits for the end. */
  readonly leaveAfterMs: number | null
}

/** One thing that an imagined client does: it waits, or makes calls together and waits for all of them to end. */
export type DemoStep =
  | { readonly kind: 'pause'; readonly ms: number }
  | { readonly kind: 'calls'; readonly calls: readonly DemoCall[] }

export function pause(ms: number): DemoStep {
  return { kind: 'pause', ms }
}

export function together(...calls: readonly DemoCall[]): DemoStep {
  return { kind: 'calls', calls }
}

export function getCall(path: string, session: string | null): DemoCall {
  return { method: 'GET', path, body: null, session, leaveAfterMs: null }
}

export function postCall(
  path: string,
  session: string | null,
  body: unknown,
  leaveAfterMs: number | null = null,
): DemoCall {
  return { method: 'POST', path, body, session, leaveAfterMs }
}
