import Concurrency
import HTTP
import Logging
import Screens
import Storage

extension OfflineKeeper {
    /// Composes the keeper from the parts of the app.
    convenience init(
        _ accounts: DiskAccounts,
        _ items: ItemReader,
        settings: SettingValues,
        budget: CacheBudget,
        accessRecorder: AccessRecorder,
        announcer: ChangeAnnouncer,
        clock: WallClock,
        logger: Logger
    ) {
        let reader = accounts.reader
        let files = StoredFiles(
            store: accounts.store,
            accessRecorder: accessRecorder,
            budget: budget,
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
                maximumFiles: settings[DiskApp.offlineFiles],
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
            settings: settings,
            clock: clock,
            logger: logger
        )
    }
}
