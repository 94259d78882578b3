import { part } from './page-part.js'

/** Makes each button with `data-copies` copy the text of the element with that id. */
export function enableCopyButtons() {
  const told = part('copied', HTMLElement)
  for (const button of document.querySelectorAll('button[data-copies]')) {
    if (!(button instanceof HTMLButtonElement)) continue
    const source = part(button.dataset['copies'] ?? '', HTMLElement)
    button.addEventListener('click', () => void copy(source, told))
  }
}

/**
 * @param {HTMLElement} source
 * @param {HTMLElement} told
 */
async function copy(source, told) {
  told.classList.add('seen')
  try {
    await navigator.clipboard.writeText(source.textContent ?? '')
    told.textContent = 'Copied.'
  } catch {
    // There is no clipboard on a page that came over plain HTTP from another machine.
    getSelection()?.selectAllChildren(source)
    told.textContent = 'Selected: copy it with the keyboard.'
  }
}
