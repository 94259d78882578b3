/** What is there without a gap between, piece by piece: where a line is drawn through. */
export function runsOf<Value>(values: readonly (Value | null)[]): readonly (readonly Value[])[] {
  const runs: Value[][] = []
  let run: Value[] | null = null
  for (const value of values) {
    if (value === null) run = null
    else if (run === null) runs.push((run = [value]))
    else run.push(value)
  }
  return runs
}
