/// What the process says to whoever started it. Documented in the README.
enum ExitCode: Int32, Sendable {
    /// Done; with `start --wait` and `demo`: the crawl's verdict is `complete`.
    case success = 0
    /// It could not be done: Kafka out of reach, the client fenced, no time left to stop in order.
    case failure = 1
    /// The command line or a configuration file cannot be used. Nothing was begun.
    case usage = 2
    /// The crawl ended with another verdict than `complete`.
    case notComplete = 3
}

/// A command that could not do what it was asked; the message is one line for the person at the terminal.
struct CommandFailure: Error, Hashable {
    var message: String
    var code: ExitCode

    init(_ message: String, code: ExitCode = .failure) {
        self.message = message
        self.code = code
    }
}
