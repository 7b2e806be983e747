/// Why something is not kept offline, as its screen reports it.
enum OfflineFailure: String, Sendable, Equatable {
    /// It does not fit into `disk.offline_budget_mb` beside the contents that are kept already.
    case tooLarge = "too-large"
    /// More files and folders would be kept than `disk.offline_files` allows.
    case tooManyFiles = "too-many-files"
    /// The API does not say how large the file is, so that it cannot be checked.
    case sizeUnknown = "size-unknown"
    /// The API no longer accepts the account's token.
    case sessionExpired = "upstream-session-expired"
    case forbidden = "upstream-forbidden"
    case unavailable = "upstream-unavailable"
    /// The bytes are not those of the file: too few, too many, or with another checksum.
    case damaged
    /// The disk of the server is full.
    case storageFull = "storage-full"
    /// It could not be stored here.
    case storage = "not-stored"

    /// Whether the same attempt may succeed later without a change of the file.
    var isRetryable: Bool {
        switch self {
        case .tooLarge, .tooManyFiles, .sizeUnknown, .forbidden: false
        case .sessionExpired, .unavailable, .damaged, .storageFull, .storage: true
        }
    }

    /// Whether it is the budget's fault.
    var isOfBudget: Bool { self == .tooLarge || self == .tooManyFiles }
}
