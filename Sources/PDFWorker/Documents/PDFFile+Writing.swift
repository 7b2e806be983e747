import CQPDF
import MediaFormats

extension PDFFile {
    /// Writes the document. The same document gives the same bytes, its identity included.
    ///
    /// - Parameter progress: receives the percentage from time to time.
    func write(to path: String, progress: @escaping (Int) -> Void) throws {
        qpdf_init_write(handle, path)
        try check()
        qpdf_set_decode_level(handle, qpdf_dl_none)
        qpdf_set_compress_streams(handle, QPDF_BOOL(0))
        qpdf_set_preserve_encryption(handle, QPDF_BOOL(0))
        qpdf_set_deterministic_ID(handle, QPDF_BOOL(1))
        // Samples of 16 bits need this version.
        qpdf_set_minimum_pdf_version(handle, "1.5")
        let report = Report(progress)
        try withExtendedLifetime(report) {
            qpdf_register_progress_reporter(
                handle,
                { percent, context in
                    guard let context else { return }
                    Unmanaged<Report>.fromOpaque(context).takeUnretainedValue().progress(Int(percent))
                },
                Unmanaged.passUnretained(report).toOpaque()
            )
            qpdf_write(handle)
            try check()
        }
        try Self.requireComplete(path)
    }

    private final class Report {
        let progress: (Int) -> Void

        init(_ progress: @escaping (Int) -> Void) {
            self.progress = progress
        }
    }
}
