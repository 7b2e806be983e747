import Synchronization

/// Contents of refusals for requests of which nothing is known: made once, because a client can have thousands of them
/// in a second.
final class RefusalContents: Sendable {
    private let render: @Sendable (ConnectionRefusal, RefusedHead?) -> RefusalContent
    private let known = Mutex<[String: RefusalContent]>([:])

    init(_ render: @escaping @Sendable (ConnectionRefusal, RefusedHead?) -> RefusalContent) { self.render = render }

    /// Returns the content of a refusal.
    func content(of refusal: ConnectionRefusal, _ head: RefusedHead?) -> RefusalContent {
        guard head == nil else { return render(refusal, head) }
        if let content = known.withLock({ $0[refusal.detail] }) { return content }
        let content = render(refusal, nil)
        // There are few details, and none has what a client has sent.
        known.withLock { $0[refusal.detail] = content }
        return content
    }
}
