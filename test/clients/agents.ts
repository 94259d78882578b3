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
  /** Its name in the rows of its calls. */
  readonly client: string
  /** What names its session; null if it sends nothing that does. */
  readonly session: string | null
  /** The tool by which it runs a command. */
  readonly tool: string
}

/** By the name that `tokenweir env` knows them under. */
export const agents: Readonly<Record<string, Agent>> = {
  codex: {
    invocation: 'codex exec --skip-git-repo-check -s danger-full-access "Run it"',
    model: 'weir-for-codex',
    target: '/v1/responses',
    client: 'codex',
    session: 'session-id',
    tool: 'exec_command',
  },
  opencode: {
    invocation: 'opencode run "Run it"',
    model: 'weir-for-opencode',
    target: '/v1/chat/completions',
    client: 'opencode',
    session: 'x-session-id',
    tool: 'bash',
  },
  qwen: {
    invocation: 'qwen --yolo -p "Run it"',
    model: 'weir-for-qwen',
    target: '/v1/chat/completions',
    client: 'qwen-code',
    session: null,
    tool: 'run_shell_command',
  },
  pi: {
    invocation: 'pi --provider anthropic --model claude-sonnet-4-5 -p "Run it"',
    model: 'claude-sonnet-4-5',
    offered: false,
    target: '/v1/messages',
    client: 'pi',
    session: null,
    tool: 'bash',
  },
  continue: {
    invocation: 'cn --auto -p "Run it"',
    model: 'weir-for-continue',
    target: '/v1/chat/completions',
    client: 'continue',
    session: null,
    tool: 'Bash',
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
    readonly client: string | null
    readonly session: string | null
    readonly session_source: string | null
    readonly tool_calls: number | null
    readonly tools: string | null
    readonly upstream_name: string | null
  }[]
  /** By agent, what it sent through the gateway and to the upstream itself, without ids and times. */
  readonly sent: Readonly<
    Record<string, { readonly through: readonly string[]; readonly direct: readonly string[] }>
  >
  /** Each credential that the upstream was sent, once. */
  readonly credentials: readonly string[]
  /** Names outside that any of them looked up, once each. */
  readonly namesAsked: readonly string[]
  /** Codex with the provider that it has itself, and nothing but the gateway's address set. */
  readonly builtIn: AgentRun & {
    /** Requests that offered WebSocket. */
    readonly upgrades: number
  }
}

/** Asked for by Codex with its own provider alone. */
export const builtInModel = 'weir-for-codex-alone'
