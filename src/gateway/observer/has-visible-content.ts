type Fields = Readonly<Record<string, unknown>>

/**
 * Whether a parsed chat chunk whose content is a list of parts, as Mistral's reasoning models send it, holds
 * more than reasoning: any part that is not of the type `thinking`.
 */
export function hasVisibleContent(chunk: unknown): boolean {
  const choices = fields(chunk)['choices']
  if (!Array.isArray(choices)) return false
  return choices.some((choice) => {
    const content = fields(fields(choice)['delta'])['content']
    if (typeof content === 'string') return content !== ''
    return Array.isArray(content) && content.some((part) => fields(part)['type'] !== 'thinking')
  })
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
