/** In the report, in place of `design/popover.tsx`: what opens there would ask the dashboard. */
export function Popover() {
  return null
}
