import type { JSX } from 'preact'

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
  /** In pixels; 12 unless told. */
  readonly size?: number
}

/** A shape that tells a state apart from others where its colour cannot. Words stand beside it. */
export function StateMark({ shape, size = 12 }: StateMarkProps): JSX.Element {
  return (
    <svg
      class="state-mark"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linejoin="round"
      stroke-linecap="round"
      aria-hidden="true"
    >
      {shapes[shape]}
    </svg>
  )
}
