// The reader's theme, before the first paint: the page itself comes too late for that, and would flash.
try {
  const theme = localStorage.getItem('tokenweir.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme
} catch {
  // Where nothing may be kept, the system's theme it is.
}
