/** What `tokenweir demo` says there is to try; `dashboard` is where the dashboard is. */
export function demoLines(dashboard: string): readonly string[] {
  return [
    'Three things to try:',
    '  Find the incident: one model was slow and refused calls for three hours, some days ago. When, and which one?',
    `    ${dashboard}/?range=7d`,
    '  What does an agent cost: the dearest client is an agent. Open one of its sessions, and see where the money went.',
    `    ${dashboard}/costs?range=7d&by=client  and  ${dashboard}/sessions?range=7d&client=demo-agent`,
    '  Cancel a call: of those under way, end one. Its client is told so.',
    `    ${dashboard}/live`,
  ]
}
