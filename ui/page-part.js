/**
 * An element of the page, by its id.
 *
 * @template {Element} T
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T}
 */
export function part(id, kind) {
  const found = document.getElementById(id)
  if (!(found instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`)
  return found
}

/**
 * A new element with text inside. Text is all that anything from outside ever becomes on this page.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {string} [text]
 * @param {string} [className]
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(name, text = '', className = '') {
  const made = document.createElement(name)
  if (text !== '') made.textContent = text
  if (className !== '') made.className = className
  return made
}

/**
 * Puts a text into an element, or hides the element where there is none. What is there already is left alone,
 * so that a selection lasts and nothing is announced twice.
 *
 * @param {HTMLElement} target
 * @param {string | null} text
 */
export function say(target, text) {
  target.hidden = text === null
  if (target.textContent !== (text ?? '')) target.textContent = text
}

/**
 * A button that cannot be used now keeps the focus, which `disabled` would take from it.
 *
 * @param {HTMLButtonElement} button
 * @param {boolean} usable
 */
export function setUsable(button, usable) {
  button.ariaDisabled = usable ? 'false' : 'true'
}

/**
 * @param {HTMLButtonElement} button
 * @param {() => void} action
 */
export function whenPressed(button, action) {
  button.addEventListener('click', () => {
    if (button.ariaDisabled !== 'true') action()
  })
}

/**
 * Why something did not work, in words.
 *
 * @param {unknown} error
 */
export function reasonOf(error) {
  return error instanceof Error ? error.message : 'Something went wrong.'
}
