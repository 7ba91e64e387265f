print("pagehound")
