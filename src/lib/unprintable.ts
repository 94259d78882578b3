/** Characters that a terminal would act upon, or that reorder or hide text. */
export const unprintable: RegExp =
  /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu

/** The text with such characters as escapes of JSON. Line breaks and the start of a colour stay. */
export function withEscapes(text: string): string {
  return text.replace(unprintable, (character) =>
    character < ' ' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
