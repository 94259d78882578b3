import { useCallback, useEffect, useState } from 'preact/hooks'
import type { StoredChoice } from './stored-choice.ts'

/** A kept choice as it is now, and how it is made. */
export function useStoredChoice<Choice extends string>(
  stored: StoredChoice<Choice>,
): readonly [choice: Choice, choose: (choice: Choice) => void] {
  const [choice, setChoice] = useState(stored.current)
  useEffect(() => {
    setChoice(stored.current)
    return stored.watch(setChoice)
  }, [stored])
  return [choice, useCallback((next: Choice) => stored.set(next), [stored])]
}
