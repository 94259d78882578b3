import { type JsonShape, type WantedPlace, wantedPlaces } from '../../json/json-scan.ts'

/**
 * Most bytes of a body, or a line of a stream, that is parsed. A longer one is scanned for its wanted places,
 * and not held.
 */
export const longestParsed = 256 * 1024

/**
 * Most bytes of usage, timings or an error (`object`), of a name, of a finish reason (`word`), and of a
 * request id with its quotes.
 */
const object = 16 * 1024
const name = 512
const word = 64
const id = 202
/** Enough characters to distinguish `null`, `""` and `[]` from real values. */
const presence = 4

const item = { type: word, name }
const called = { name }
const calls = { '[]': { index: name, id, function: called, custom: called } }
const calledPiece = { name, arguments: presence }
const callPieces = { '[]': { index: name, id, function: calledPiece, custom: { name, input: presence } } }
const stop = { reason: word }

/**
 * The places that an {@link AnswerReader} reads in bodies and events that are too long to be parsed. Most are
 * of OpenAI's APIs. Others: `message`, `content_block` and `delta` of Anthropic, `metrics` of vLLM,
 * `time_info` of Cerebras, `x_groq` of Groq, `meta` of Cohere, parts of content of Mistral. Errors may be
 * nested, flat (TGI, FastAPI), in a list (Gemini), or in a choice (OpenRouter).
 */
export const answerShape = {
  '[]': { error: object },
  id,
  model: name,
  object: name,
  type: name,
  service_tier: name,
  request_id: id,
  status: name,
  background: presence,
  usage: object,
  tool_usage: object,
  timings: object,
  metrics: object,
  time_info: object,
  meta: object,
  cost: name,
  /** Lists of embeddings or models. */
  data: presence,
  error: object,
  error_type: name,
  code: name,
  detail: object,
  msg: object,
  message: { '': object, model: name, usage: object },
  stop_reason: word,
  incomplete_details: stop,
  choices: {
    '[]': {
      index: name,
      finish_reason: word,
      usage: object,
      error: object,
      text: presence,
      message: { tool_calls: calls, function_call: called },
      delta: {
        content: {
          '': presence,
          '[]': { text: presence, thinking: { '': presence, '[]': { text: presence } } },
        },
        refusal: presence,
        reasoning_content: presence,
        reasoning: presence,
        tool_calls: callPieces,
        function_call: calledPiece,
        audio: { data: presence, transcript: presence },
      },
    },
  },
  delta: { '': presence, text: presence, partial_json: presence, thinking: presence, stop_reason: word },
  content_block: item,
  item,
  content: { '[]': item },
  output: { '[]': item },
  response: {
    id,
    status: word,
    background: presence,
    model: name,
    service_tier: name,
    usage: object,
    tool_usage: object,
    metrics: object,
    error: object,
    incomplete_details: stop,
    output: { '[]': item },
  },
  x_groq: { id, usage: object, error: object },
} as const satisfies JsonShape

export const answerPlaces: WantedPlace = wantedPlaces(answerShape)
