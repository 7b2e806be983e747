import Foundation

/// A file or folder that the user keeps offline.
struct OfflineMark: Sendable, Equatable {
    /// Its number in the order of marking.
    let number: Int64
    let account: String
    let path: DiskPath
    let kind: DiskItem.Kind
    let markedAt: Date
    /// Whether it was found to fit into the budget.
    var isAdmitted = false
    /// When it was last compared with the API.
    var checkedAt: Date?
    /// Failed comparisons in a row.
    var attempts = 0
    /// Why the last comparison failed, or why it does not fit.
    var failure: OfflineFailure?

    var key: OfflineKey { OfflineKey(account: account, path: path) }
}

/// The numbers of files of a mark, by their state.
struct OfflineCounts: Sendable, Equatable {
    /// All files, and their bytes.
    var (files, bytes) = (0, 0)
    /// Files whose present version is kept, and their bytes.
    var (keptFiles, keptBytes) = (0, 0)
    /// Files of which an older version is kept.
    var outdatedFiles = 0
    /// Files that do not fit into the budget.
    var refusedFiles = 0
    /// Files that could not be fetched.
    var failedFiles = 0
    /// A reason for one of ``failedFiles``.
    var failure: OfflineFailure?
    /// When the last of the kept contents was stored.
    var keptAt: Date?
}

/// The state of a mark as its screen shows it.
enum OfflineState: String, Sendable, CaseIterable {
    case waiting, fetching, kept, failed
    case outOfDate = "out_of_date"
    case tooLarge = "too_large"

    /// Concludes the state of a mark.
    ///
    /// - Parameter isFetching: Whether a file of it is being fetched.
    init(_ mark: OfflineMark, _ counts: OfflineCounts, isFetching: Bool) {
        if isFetching {
            self = .fetching
        } else if mark.failure?.isOfBudget == true || counts.refusedFiles > 0 {
            self = .tooLarge
        } else if mark.failure != nil || counts.failedFiles > 0 {
            self = .failed
        } else if counts.outdatedFiles > 0 {
            self = .outOfDate
        } else if mark.checkedAt == nil || counts.keptFiles < counts.files {
            self = .waiting
        } else {
            self = .kept
        }
    }
}

/// Whether a file or folder in a list is marked to be kept offline.
enum OfflineMarking: Sendable, Equatable {
    case none
    /// It was marked itself.
    case marked
    /// A folder above it was marked.
    case inherited
}
