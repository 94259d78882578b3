import { compilePlaces, type JsonPlace, type WantedPlace } from '../../json/json-place.ts'

/** What stands at a place of an answer, whatever the upstream calls the place. */
export const slot = {
  model: 0,
  serviceTier: 1,
  /** Ends with each element of `choices`. */
  choice: 2,
  choiceIndex: 3,
  finishReason: 4,
  /** Content that a reader sees, refusals and tool calls included. */
  visible: 5,
  reasoning: 6,
  /** The increment of a Responses event, whose `type` says of what. */
  typedDelta: 7,
  type: 8,
  object: 9,
  status: 10,
  stopReason: 11,
  usage: 12,
  startUsage: 13,
  timings: 14,
  meta: 15,
  error: 16,
  errorType: 17,
  message: 18,
  code: 19,
  detail: 20,
  /** `data`, the list of embeddings or models: only whether it is there. */
  list: 21,
  metrics: 22,
  timeInfo: 23,
  requestId: 24,
  /** The error of one choice, which spoils the whole. */
  choiceError: 25,
} as const

/** Longest usage, timings, error or name that is read. */
const object = 16 * 1024
const name = 512
/** Longest finish reason; there may be one for each of many choices. */
const word = 64
/** Longest request id, with its quotes. */
const id = 202
/** Enough to tell `null`, `""` and `[]` from more than that. */
const presence = 4

function place(path: string, which: number, limit: number): WantedPlace {
  return { path, slot: which, limit }
}

/** Where the answers of all known upstreams hold what is wanted: streamed events and whole bodies alike. */
const wanted: readonly WantedPlace[] = [
  place('model', slot.model, name),
  place('service_tier', slot.serviceTier, name),
  place('usage', slot.usage, object),
  place('timings', slot.timings, object),
  place('object', slot.object, name),
  place('type', slot.type, name),
  place('data', slot.list, presence),

  // OpenAI chat, legacy completions
  place('choices[]', slot.choice, 0),
  place('choices[].index', slot.choiceIndex, name),
  place('choices[].finish_reason', slot.finishReason, word),
  place('choices[].text', slot.visible, presence),
  place('choices[].delta.content', slot.visible, presence),
  place('choices[].delta.refusal', slot.visible, presence),
  place('choices[].delta.reasoning_content', slot.reasoning, presence),
  place('choices[].delta.reasoning', slot.reasoning, presence),
  place('choices[].delta.tool_calls[].function.name', slot.visible, presence),
  place('choices[].delta.tool_calls[].function.arguments', slot.visible, presence),
  place('choices[].delta.function_call.name', slot.visible, presence),
  place('choices[].delta.function_call.arguments', slot.visible, presence),
  place('choices[].delta.audio.data', slot.visible, presence),
  place('choices[].delta.tool_calls[].custom.name', slot.visible, presence),
  place('choices[].delta.tool_calls[].custom.input', slot.visible, presence),
  place('choices[].delta.audio.transcript', slot.visible, presence),

  // Mistral's reasoning models: content in parts
  place('choices[].delta.content[].text', slot.visible, presence),
  place('choices[].delta.content[].thinking', slot.reasoning, presence),
  place('choices[].delta.content[].thinking[].text', slot.reasoning, presence),

  // vLLM, Cerebras, Groq
  place('metrics', slot.metrics, object),
  place('response.metrics', slot.metrics, object),
  place('time_info', slot.timeInfo, object),
  place('x_groq.id', slot.requestId, id),
  place('x_groq.usage', slot.usage, object),
  place('x_groq.error', slot.error, object),

  // OpenAI Responses
  place('delta', slot.typedDelta, presence),
  place('status', slot.status, name),
  place('incomplete_details.reason', slot.stopReason, word),
  place('response.model', slot.model, name),
  place('response.service_tier', slot.serviceTier, name),
  place('response.usage', slot.usage, object),
  place('response.incomplete_details.reason', slot.stopReason, word),

  // Anthropic
  place('message.model', slot.model, name),
  place('message.usage', slot.startUsage, object),
  place('content_block.name', slot.visible, presence),
  place('delta.text', slot.visible, presence),
  place('delta.partial_json', slot.visible, presence),
  place('delta.thinking', slot.reasoning, presence),
  place('delta.stop_reason', slot.stopReason, word),
  place('stop_reason', slot.stopReason, word),
  place('request_id', slot.requestId, id),

  // Cohere rerank
  place('meta', slot.meta, object),

  // Errors: nested, flat, TGI's, FastAPI's, Gemini's array, OpenRouter's in a choice
  place('error', slot.error, object),
  place('error_type', slot.errorType, name),
  place('message', slot.message, object),
  place('code', slot.code, name),
  place('detail', slot.detail, object),
  place('[].error', slot.error, object),
  place('choices[].error', slot.choiceError, object),
]

/** Shared by all meters; peeking does not change it. */
export const answerPlaces: JsonPlace = compilePlaces(wanted)
