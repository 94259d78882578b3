/**
 * An upstream in a process of its own that is like llama.cpp's server: slots, each of which still knows the prompt of its
 * last call, and reads of the next one only what is new. A call takes the free slot that knows most of its prompt, and of
 * equals the one that was not used for longest. It answers chats, Anthropic's messages and `GET /v1/models`, later after
 * `POST /slow/<ms>`. The arguments are the port and the number of slots.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

const port = Number(process.argv[2])
const slotCount = Number(process.argv[3])
/** Of reading a thousand characters that are new, and of writing the answer. */
const msPerThousand = 2
const answerMs = 5
const charactersPerToken = 4

const slots = Array.from({ length: slotCount }, () => ({ prompt: '', isBusy: false, turn: 0 }))
let turn = 0
let slowMs = 0

function sharedLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return length
}

const server = createServer((req, res) => void answer(req, res))

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { url = '' } = req
  const send = (value: object): void => {
    res.setHeader('content-type', 'application/json').end(JSON.stringify(value))
  }
  const slow = /^\/slow\/(\d+)$/.exec(url)
  if (slow !== null) {
    slowMs = Number(slow[1])
    send({})
    return
  }
  if (url.startsWith('/v1/models')) {
    send({ object: 'list', data: [{ id: 'llama' }] })
    return
  }
  const body = JSON.parse(await text(req)) as { messages: readonly { content: string }[]; model: string }
  const prompt = body.messages.map(({ content }) => content).join('\n')
  const free = slots.filter(({ isBusy }) => !isBusy)
  const [best = { prompt: '', isBusy: true, turn }] = free.toSorted(
    (a, b) => sharedLength(b.prompt, prompt) - sharedLength(a.prompt, prompt) || a.turn - b.turn,
  )
  const shared = sharedLength(best.prompt, prompt)
  best.isBusy = true
  best.turn = ++turn
  best.prompt = prompt
  await sleep(slowMs + answerMs + ((prompt.length - shared) / 1000) * msPerThousand)
  best.isBusy = false
  const tokens = Math.ceil(prompt.length / charactersPerToken)
  const cached = Math.floor(shared / charactersPerToken)
  if (url === '/v1/messages') {
    const usage = { input_tokens: tokens - cached, cache_read_input_tokens: cached, output_tokens: 8 }
    const content = [{ type: 'text', text: 'ok' }]
    send({
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: body.model,
      content,
      stop_reason: 'end_turn',
      usage,
    })
    return
  }
  send({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: body.model,
    choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: tokens,
      completion_tokens: 8,
      total_tokens: tokens + 8,
      prompt_tokens_details: { cached_tokens: cached },
    },
  })
}
server.keepAliveTimeout = 60_000
server.listen(port, '127.0.0.1', () => process.stdout.write('listening\n'))
