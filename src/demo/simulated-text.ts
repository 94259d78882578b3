import { type Random, integerBetween } from './random.ts'

/** The first words of every answer and its reasoning, so that nobody takes a copied text for a model's. */
export const answerOpening = 'This answer is simulated; no model wrote it.'
export const reasoningOpening = 'Simulated reasoning:'

/** The sentences of the text, in order. The first one can also follow the last. */
const sentences: readonly string[] = [
  'A weir is a low wall across a river.',
  'It does not stop the water; it makes the water stand a little higher, and lets it pass over the crest in a thin, even sheet.',
  'Upstream the river turns slow and deep, which is what a mill or a boat wants of it.',
  'Downstream it runs as it always did, only without the surges.',
  'That is the whole trick: nothing is taken out and nothing is added, but what passes is steady, and it can be measured.',
  'To measure a stream, cut a notch into the crest.',
  'The height of the water above the notch tells how much flows through it, and a plain staff with marks is enough to read it.',
  'A notch shaped like a V is good at telling small flows apart, since a trickle already fills its point.',
  'A wide, flat one is better for floods.',
  'Either way the river itself does the counting, day and night, and nobody has to stop it for that.',
  'Most of the year a weir has nothing to do.',
  'Its use shows on the day when everything arrives at once: the pool above it fills, the flow over the crest rises only slowly, and the meadows below stay dry.',
  'Whoever built it had to answer two questions, how much may pass at a time, and how long the rest can wait.',
  'If the crest is too high, the fields above are flooded.',
  'If it is too low, it is a row of wet stones.',
  'Old weirs were built of what lay near: willow stakes, brushwood, later dressed stone.',
  'They leaked, and that was no fault, because fish found the gaps.',
  'Newer ones have a ladder of small pools beside them, each a step lower than the one before.',
  'A trout takes them one after the other and rests in between.',
  'Engineers measure such a ladder by its worst day, when the water is low and the fish are many.',
]
const sentencesOfAParagraph = 5
const wordCounts = sentences.map((sentence) => tokensOf(sentence).length)

/** A text of at least `words` words: the opening, then sentences from the start of a random paragraph. */
export function simulatedText(words: number, random: Random, opening: string = answerOpening): string {
  let next = sentencesOfAParagraph * integerBetween(random, 0, sentences.length / sentencesOfAParagraph - 1)
  let text = `${opening} ${sentences[next]}`
  for (let count = tokensOf(text).length; count < words; count += wordCounts[next] ?? 1) {
    next = (next + 1) % sentences.length
    text += `${next % sentencesOfAParagraph === 0 ? '\n\n' : ' '}${sentences[next]}`
  }
  return text
}

/** The pieces of a streamed text. A simulated token is a word and the space after it. */
export function tokensOf(text: string): string[] {
  return text.match(/\S+\s*/g) ?? []
}
