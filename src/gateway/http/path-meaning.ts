import type { CallType } from '../../call/call.ts'
import { type Target, type UpstreamBase, decodeByte, pathAt } from './target.ts'

/** The meaning of a path at the upstream. */
export interface PathMeaning {
  /** The known path with this meaning, such as `/v1/chat/completions`; empty for an unknown path. */
  readonly name: string
  readonly callType: CallType
  /** True if the body is read as a whole before the call queues. */
  readonly isInference: boolean
  /** True if the call works with a model: it takes a slot, and budgets count it. */
  readonly usesModel: boolean
  /** True if the path accepts a form that names a model. */
  readonly takesForm: boolean
  /** The model that the path itself names. */
  readonly model: string | null
  /** The stored response that the path names, for a GET or a cancel; null without one. */
  readonly response: string | null
}

/** Ends of paths that use a model, with their call types. Azure and others have more than a version before these. */
const inferencePaths: Readonly<Record<string, CallType>> = {
  'chat/completions': 'chat',
  completions: 'chat',
  responses: 'chat',
  'responses/compact': 'chat',
  messages: 'chat',
  embeddings: 'embedding',
  score: 'embedding',
  pooling: 'embedding',
  classify: 'embedding',
  rerank: 'rerank',
  reranking: 'rerank',
}
const inferenceEnd = new RegExp(`/(${Object.keys(inferencePaths).join('|')})$`)
/** Paths that add a message to a stored conversation, without using a model. */
const storedMessages = /\/(?:threads|conversations)\/[^/]+\/messages$/
/** Paths that use no model: they cancel, pause, count, or describe a model. The last two lines are of local servers. */
const withoutModel = new RegExp(
  [
    '/(?:responses|batches|jobs|runs|uploads|file_batches|videos)/[^/]+/(?:cancel|pause|resume)$',
    '/(?:count_tokens|input_tokens|tokenize|detokenize|apply-template|tokencount)$',
    ':counttokens$',
    '/api/(?:show|ps|pull|push|copy|create|delete|extra/abort)$',
    '/(?:props|slots/\\d+|lora-adapters|(?:un)?load_lora_adapter|reset_prefix_cache|models/(?:un)?load)$',
  ].join('|'),
)
const formEnd = /\/(?:audio\/(?:transcriptions|translations)|images\/(?:edits|variations)|videos)$/
const propsEnd = /\/props$|\/models(?:\/.+)?$/
/** A verb at the end of a path, such as Gemini's `:generateContent`. */
const modelVerb = /:[a-z]+$/
const modelList = '/v1/models'
const responseInPath = /\/responses\/([^/]+)(?:\/cancel)?$/i
const modelInPath = /\/(?:deployments|engines)\/([^/]+)\/|^\/v1\/models\/(.+)$/i

const other: PathMeaning = {
  name: '',
  callType: 'other',
  isInference: false,
  usesModel: false,
  takesForm: false,
  model: null,
  response: null,
}
const otherUse: PathMeaning = { ...other, usesModel: true }
const props: PathMeaning = { ...other, callType: 'props' }

const knownPaths: ReadonlyMap<string, PathMeaning> = new Map(
  Object.entries(inferencePaths).map(([end, callType]) => {
    const name = `/v1/${end}`
    return [name, { ...otherUse, name, callType, isInference: true }]
  }),
)

/**
 * The meaning of a call, by the path that its upstream will see. Upstreams differ in which spellings of a
 * path they accept; a path is known if any upstream accepts it. Only a POST infers: a CORS preflight is no
 * chat.
 */
export function pathMeaning(base: UpstreamBase, target: Target, method: string): PathMeaning {
  const isPost = method === 'POST'
  if (isPost) {
    const exact = knownPaths.get(target.path)
    if (exact !== undefined) return exact
  }
  const path = asUpstreamsReadIt(target.path)
  const fullPath = asUpstreamsReadIt(pathAt(base, target.path)).toLowerCase()
  const model = namedModel(path)
  const response = responseInPath.exec(path)?.[1] ?? null
  if (isPost) {
    if (withoutModel.test(fullPath)) return { ...(propsEnd.test(fullPath) ? props : other), model, response }
    const [, end = ''] = storedMessages.test(fullPath) ? [] : (inferenceEnd.exec(fullPath) ?? [])
    const infers = knownPaths.get(`/v1/${end}`)
    if (infers !== undefined) return { ...infers, model }
  }
  if (propsEnd.test(fullPath) && !(isPost && modelVerb.test(fullPath))) {
    const name = path.toLowerCase() === modelList ? modelList : ''
    return { ...props, name, usesModel: isPost, model }
  }
  return isPost ? { ...otherUse, takesForm: formEnd.test(fullPath), model } : { ...other, model, response }
}

function asUpstreamsReadIt(path: string): string {
  const decoded = path.includes('%') ? path.replaceAll(/%[0-9a-f]{2}/gi, decodeByte) : path
  return decoded
    .replaceAll(/;[^/]*/g, '')
    .replaceAll(/\/{2,}/g, '/')
    .replace(/\/$/, '')
}

function namedModel(path: string): string | null {
  const [, deployment, model = deployment] = modelInPath.exec(path) ?? []
  return model === undefined ? null : Buffer.from(model, 'latin1').toString('utf8')
}
