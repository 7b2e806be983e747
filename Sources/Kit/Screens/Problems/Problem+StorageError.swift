public import Database

extension Problem {
    /// Creates the problem of data that cannot be read or written; nil for an error that is no fault of the disk, such
    /// as a body of another length than announced.
    ///
    /// The text has no paths: those are in the log.
    public init?(_ error: StorageError) {
        switch error {
        case .diskFull:
            self.init(
                .storageFull,
                "The disk of the server is full, and nothing was changed. "
                    + "What is stored can be read, and documents and notes can be deleted to make room."
            )
        case .notWritable, .notReadable, .inputOutput, .databaseBusy, .damagedDatabase, .blobUnavailable:
            self.init(
                .storageFailed,
                "The server cannot read or write its data now, and nothing was changed. The cause is in its log."
            )
        default: return nil
        }
    }
}
