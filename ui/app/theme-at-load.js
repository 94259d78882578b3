// Sets the reader's theme before the first paint. The page's main script runs too late, so the page would flash.
try {
  const theme = localStorage.getItem('tokenweir.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme
} catch {
  // Storage may be forbidden. Then the system's theme applies.
}
