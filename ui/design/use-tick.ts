import { useEffect, useReducer } from 'preact/hooks'

/** Renders the component again every second while `isOn`. */
export function useTick(isOn: boolean = true): void {
  const [, tick] = useReducer((rounds: number) => rounds + 1, 0)
  useEffect(() => {
    if (!isOn) return
    const timer = setInterval(() => tick(0), 1000)
    return () => clearInterval(timer)
  }, [isOn])
}
