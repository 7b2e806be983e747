package import Upstream

/// Work that goes on behind a response, in one form for all: uploads, downloads, contents that are kept offline,
/// changes in the outbox and operations that an upstream continues (schema `Task`).
package struct TaskScreen: Encodable, Sendable {
    /// Its identity among those of its kind.
    let id: String
    let kind: String
    let kindText: Text
    let state: String
    let stateText: Text
    /// From 0 to 1, which it is only after the end; null for work that cannot be measured.
    @Nullable var progress: Double?
    @Nullable var progressText: Text?
    /// Why it is not done; null if nothing is in its way.
    @Nullable var problem: String?
    @Nullable var problemText: Text?
    /// The screen that shows it.
    let href: Link
    let actions: [Action]

    package init(
        _ id: String,
        kind: (name: String, text: Text),
        state: (OutboxState, text: Text),
        progress: (share: Double, text: Text)? = nil,
        problem: (code: String, text: Text)? = nil,
        href: Link,
        actions: [Action] = []
    ) {
        (self.id, self.kind, kindText) = (id, kind.name, kind.text)
        (self.state, stateText) = (state.0.rawValue, state.text)
        (self.progress, progressText) = (progress?.share, progress?.text)
        (self.problem, problemText) = (problem?.code, problem?.text)
        (self.href, self.actions) = (href, actions)
    }
}
