import HTTPTypes
package import SharedStore

extension ProblemCode {
    /// 503: what servers share cannot be read or changed now, and nothing was changed.
    package static let storeUnavailable = ProblemCode(
        "store-unavailable",
        .serviceUnavailable,
        Text("Your data cannot be reached", ru: "Ваши данные сейчас недоступны"),
        isRetryable: true
    )
}

extension Problem {
    /// How long a client should wait for the store, in seconds.
    private static let pause = 2

    /// Creates the problem of a store that does not respond, or did not confirm a change; nil for an error that is no
    /// fault of its.
    ///
    /// The text does not say why: that is in the log.
    package init?(_ error: SharedStoreError) {
        switch error {
        case .unavailable, .closed:
            self.init(.storeUnavailable, .storeUnavailable, headerFields: [.retryAfter: "\(Self.pause)"])
        case .outcomeUnknown: self.init(.outcomeUnknown, .storeOutcomeUnknown)
        case .diskFull: self.init(.storageFull, .diskFull)
        case .notUnique, .refused, .textNotStorable, .noSuchColumn, .typeMismatch, .ambiguousMigration, .newerSchema,
            .libraryUnusable, .serverUnusable:
            return nil
        }
    }
}
