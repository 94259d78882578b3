/** A coding agent that npm has, as a test runs it. */
export interface Agent {
  /** How it is told to work without asking, and what to do. Nothing here says where the gateway is. */
  readonly invocation: string
  /** What its calls ask for. */
  readonly model: string
  /** False if the model is of the agent's own list, and `tokenweir env` is not told of it. */
  readonly offered?: boolean
  /** Where its calls go. */
  readonly target: string
}

/** By the name that `tokenweir env` knows them under. */
export const agents: Readonly<Record<string, Agent>> = {
  codex: {
    invocation: 'codex exec --skip-git-repo-check -s danger-full-access "Run it"',
    model: 'weir-for-codex',
    target: '/v1/responses',
  },
  opencode: {
    invocation: 'opencode run "Run it"',
    model: 'weir-for-opencode',
    target: '/v1/chat/completions',
  },
  qwen: { invocation: 'qwen --yolo -p "Run it"', model: 'weir-for-qwen', target: '/v1/chat/completions' },
  pi: {
    invocation: 'pi --provider anthropic --model claude-sonnet-4-5 -p "Run it"',
    model: 'claude-sonnet-4-5',
    offered: false,
    target: '/v1/messages',
  },
  continue: {
    invocation: 'cn --auto -p "Run it"',
    model: 'weir-for-continue',
    target: '/v1/chat/completions',
  },
}

/** What nothing in their options keeps them from looking up: opencode's plugins, and Continue's list of assistants. */
export const askedAllTheSame: readonly string[] = ['api.continue.dev', 'registry.npmjs.org']

/** What the run of an agent left behind. */
export interface AgentRun {
  readonly name: string
  /** Exit code, or the signal that ended it. */
  readonly end: number | string | null
  readonly output: string
  /** What the command that the model asked for has left; empty if it did not run. */
  readonly left: string
}

/** What `agents-in-own-network.ts` prints. */
export interface SeenRuns {
  readonly runs: readonly AgentRun[]
  /** As `tokenweir calls --json` has them. */
  readonly calls: readonly {
    readonly model: string
    readonly endpoint: string
    readonly outcome: string
    readonly output_tokens: number | null
  }[]
  /** Each credential that the upstream was sent, once. */
  readonly credentials: readonly string[]
  /** Names outside that any of them looked up, once each. */
  readonly namesAsked: readonly string[]
}
