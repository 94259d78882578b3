/** Attributes of all icons. */
const grid = {
  viewBox: '0 0 16 16',
  fill: 'none',
  stroke: 'currentColor',
  'stroke-linecap': 'round',
  'stroke-linejoin': 'round',
  'aria-hidden': 'true',
} as const

/** Icons on a grid of 16 with a line width of 1.5. Filled icons set their fill. */
const paths = {
  close: 'M4 4l8 8m0-8l-8 8',
  down: 'M4 6l4 4 4-4',
  right: 'M6 4l4 4-4 4',
  left: 'M10 4L6 8l4 4',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.5M13 2v3h-3',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zm3.5-1.5L14 14',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1v1.5m0 11V15m7-7h-1.5m-11 0H1m11.95-4.95L11.9 4.1m-7.8 7.8l-1.05 1.05m9.9 0L11.9 11.9M4.1 4.1L3.05 3.05',
  moon: 'M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z',
  auto: 'M8 2a6 6 0 1 0 0 12V2zm0 0a6 6 0 0 1 0 12',
  help: 'M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM6 6a2 2 0 1 1 2.8 1.8c-.6.3-.8.6-.8 1.2m0 2.2v.01',
  copy: 'M5.5 5.5h7v7h-7zM3.5 10.5v-7h7',
  link: 'M6.5 9.5l3-3M7 4.5l1.5-1.5a2.8 2.8 0 0 1 4 4L11 8.5M9 11.5L7.5 13a2.8 2.8 0 0 1-4-4L5 7.5',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  warning: 'M8 2.5L14.5 13.5h-13zM8 6.5v3.5m0 1.75v.01',
  up: 'M8 13V3m0 0L4 7m4-4l4 4',
  fall: 'M8 3v10m0 0l4-4m-4 4L4 9',
  columns: 'M2 3h12v10H2zM6 3v10m4-10v10',
  download: 'M8 2v8m0 0l3-3m-3 3L5 7M2.5 13.5h11',
  play: 'M5 3l8 5-8 5z',
  pause: 'M5.5 3.5v9m5-9v9',
  note: 'M2.5 2.5h11v7l-4 4h-7zM9.5 13.5v-4h4M5 5.5h6',
  calendar: 'M2.5 3.5h11v10h-11zM2.5 6.5h11M5.5 2v2.5M10.5 2v2.5',
} as const

/** The names of all icons. */
export type IconName = keyof typeof paths

export interface IconProps {
  readonly name: IconName
  /** The size in pixels, beside text of 16 pixels (default: 16). */
  readonly size?: number
}

/** An icon beside a text, or in a named button. Screen readers ignore icons. */
export function Icon({ name, size = 16 }: IconProps) {
  return (
    <svg class="icon" {...sizeOf(size)} stroke-width="1.5" {...grid}>
      <path d={paths[name]} />
    </svg>
  )
}

/** An icon grows with the text that the reader has chosen. */
function sizeOf(px: number): { readonly width: string; readonly height: string } {
  return { width: `${px / 16}rem`, height: `${px / 16}rem` }
}

const shapes = {
  disc: <circle cx="8" cy="8" r="5" fill="currentColor" />,
  ring: <circle cx="8" cy="8" r="4.25" />,
  half: (
    <>
      <circle cx="8" cy="8" r="4.75" />
      <path d="M3.5 8a4.5 4.5 0 0 0 9 0z" fill="currentColor" stroke="none" />
    </>
  ),
  square: <rect x="3.5" y="3.5" width="9" height="9" rx="1.5" fill="currentColor" stroke="none" />,
  triangle: <path d="M8 3L14 13H2z" fill="currentColor" />,
  cross: <path d="M4 4l8 8m0-8l-8 8" />,
} as const

export interface StateMarkProps {
  readonly shape: keyof typeof shapes
  /** The size in pixels, beside text of 16 pixels (default: 12). */
  readonly size?: number
}

/** A shape that shows a state without colour, beside a text. */
export function StateMark({ shape, size = 12 }: StateMarkProps) {
  return (
    <svg class="state-mark" {...sizeOf(size)} stroke-width="1.75" {...grid}>
      {shapes[shape]}
    </svg>
  )
}
