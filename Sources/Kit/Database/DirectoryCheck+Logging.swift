import Logging

extension DirectoryCheck {
    /// Logs at start what `larder doctor` shows.
    func log(to logger: Logger) {
        if let faults = faults() {
            logger.error(
                "files that rows name are not in blobs: restore them from a backup",
                metadata: ["files": "\(faults)"]
            )
        }
        if let strangers = strangers() {
            logger.warning(
                "files in blobs that no row names; they stay, see docs/operations.md",
                metadata: ["files": "\(strangers)"]
            )
        }
    }
}
