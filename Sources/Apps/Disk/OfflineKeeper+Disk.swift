import Freshness
import Logging
import ResponseStore

extension OfflineKeeper {
    /// Composes what keeps offline files up to date.
    convenience init(
        _ accounts: DiskAccounts,
        _ items: ItemReader,
        options: DiskApp.Options,
        accessRecorder: AccessRecorder,
        announcer: ChangeAnnouncer,
        clock: WallClock,
        logger: Logger
    ) {
        let reader = accounts.reader
        let files = StoredFiles(
            store: accounts.store,
            outbox: accounts.outbox,
            accessRecorder: accessRecorder,
            budget: options.budget,
            clock: clock
        )
        let fetcher = FileFetcher(
            client: reader.client,
            tokens: reader.tokens,
            files: files,
            load: reader.load,
            logger: logger
        )
        self.init(
            checker: OfflineChecker(
                accounts: accounts,
                items: items,
                load: reader.load,
                maximumFiles: options.offline.files,
                clock: clock
            ),
            fetcher: OfflineFetcher(
                accounts: accounts,
                items: items,
                fetcher: fetcher,
                load: reader.load,
                clock: clock
            ),
            announcer: announcer,
            options: options.offline,
            clock: clock,
            logger: logger
        )
    }
}
