// Pagehound
