export function SessionView({ session }: { readonly session: string }) {
  return <p>{session}</p>
}
