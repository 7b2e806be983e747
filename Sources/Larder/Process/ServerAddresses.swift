/// Where a server listens.
struct ServerAddresses: Sendable {
    /// Scheme, host and port of the server.
    let server: String
    /// The address of the front end; nil if it is not served.
    let pages: String?
    /// Port of the sandbox; nil if there is none.
    let sandboxPort: Int?

    /// Prints the lines that programs wait for.
    func print() {
        let sandbox = sandboxPort.map { "sandbox on http://127.0.0.1:\($0)/_sandbox\n" } ?? ""
        let pages = pages.map { "pages on \($0)\n" } ?? ""
        StandardOutput.announce("\(sandbox)\(pages)listening on \(server)\n")
    }
}
