package import Database

extension Problem {
    /// Creates the problem of data that cannot be read or written; nil for an error that is no fault of the disk, such
    /// as a body of another length than announced.
    ///
    /// The text has no paths: those are in the log.
    package init?(_ error: StorageError) {
        switch error {
        case .diskFull:
            self = .storageFull
        case .notWritable, .notReadable, .inputOutput, .databaseBusy, .damagedDatabase, .blobUnavailable,
            .secretNotAuthentic:
            self.init(.storageFailed, .storageFailed)
        default: return nil
        }
    }
}
