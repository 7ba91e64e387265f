import Pagehound

/// A command that could not do what it was asked; the message is one line for the person at the terminal.
struct CommandFailure: Error, Hashable {
    var message: String
    var code: ExitCode

    init(_ message: String, code: ExitCode = .failure) {
        self.message = message
        self.code = code
    }
}
