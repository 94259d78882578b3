import type { ServedReader } from '../store/read/served-models.ts'

/** Stands in where there is no database to read. */
export const emptyServed: ServedReader = {
  between: (fromMs) => ({ fromMs, models: [] }),
  close: () => {},
}
