import type { JSX } from 'preact'

const heights = [
  ['figure-cards', 6, 9.75],
  ['', 1, 20.5],
  ['', 1, 27],
  ['overview-three', 3, 16],
] as const

/** Where all will stand, in its final size. */
export function OverviewSkeleton(): JSX.Element {
  return (
    <div class="overview" aria-busy="true" aria-label="Loading" role="status">
      {heights.map(([name, count, rem]) => (
        <div key={rem} class={name}>
          {Array.from({ length: count }, (_, index) => (
            <div key={index} class="card" style={{ height: `${rem}rem` }}>
              <div class="skeleton overview-skeleton" />
            </div>
          ))}
        </div>
      ))}
    </div>
  )
}
