import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export interface PlotCanvasProps {
  /** Draws all anew, in CSS pixels. Another function is another picture. */
  readonly draw: (context: CanvasRenderingContext2D, width: number, height: number) => void
}

/** What is drawn in a plot. It fills its room, also where that becomes another. */
export function PlotCanvas({ draw }: PlotCanvasProps): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const element = canvas.current
    if (element === null) return
    const redraw = (): void => {
      const { clientWidth: width, clientHeight: height } = element
      element.width = Math.round(width * devicePixelRatio)
      element.height = Math.round(height * devicePixelRatio)
      const context = element.getContext('2d')
      if (context === null) return
      context.scale(devicePixelRatio, devicePixelRatio)
      draw(context, width, height)
    }
    // It calls back at once, and whenever the room changes.
    const resizing = new ResizeObserver(redraw)
    resizing.observe(element)
    return () => resizing.disconnect()
  }, [draw])
  return <canvas ref={canvas} class="plot-canvas" />
}
