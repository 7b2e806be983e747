import Logging

extension DirectoryCheck {
    /// Logs at start the faults of files that `larder doctor` reports.
    func log(to logger: Logger) {
        if let faults = files.faults() {
            logger.error(
                "files that rows name are not in blobs: restore them from a backup",
                metadata: ["files": "\(faults)"]
            )
        }
        if let strangers = files.strangers() {
            logger.warning(
                "files in blobs that no row names; they stay, see docs/operations.md",
                metadata: ["files": "\(strangers)"]
            )
        }
    }
}
